(()=>{const d=document,q=(s,e=d)=>[...e.querySelectorAll(s)],us=q('.u'),box=q('#tools')[0],pairs=q('.pair'),
el=(t,p)=>Object.assign(d.createElement(t),p),
add=(t,e)=>{const l=el('label',{textContent:t+' '});l.append(e);box.append(l);return e},
sel=(t,os,onchange)=>{const s=add(t,el('select',{onchange}));os.forEach((o,i)=>s.append(el('option',{value:i,textContent:o})));return s};
addEventListener('beforeprint',()=>us.forEach(e=>e.open=true));
if(!us.length)return;
let S;const pick=()=>{pairs.forEach((p,i)=>p.hidden=S&&i!=S.value);filter()};
if(pairs[1])S=sel('System',pairs.map(p=>p.dataset.s),pick);
const T=us.map(u=>u.textContent.toLowerCase()),F=add('Filter by id or title',el('input',{type:'search'})),
R=add('At least so many relevant',el('input',{type:'number',min:0,value:0})),n=el('p',{role:'status'}),
filter=()=>{let c=0;us.forEach((u,i)=>{u.hidden=!(T[i].includes(F.value.toLowerCase())&&+u.dataset.r>=+R.value);c+=!!u.offsetParent});n.textContent=c+' shown'},
id=u=>q('bdi',u)[0].textContent,by=['o','d','r'],
O=sel('Sort',['as given','difference','relevant items','id'],()=>q('.us').forEach(g=>{const k=by[O.value];g.append(...q('.u',g).sort((a,b)=>k?(a.dataset[k]-b.dataset[k])*(k=='r'?-1:1):id(a).localeCompare(id(b),'en',{numeric:true})))})),
go=()=>{const e=us.find(u=>'#'+u.id==location.hash);if(!e)return;if(S){S.value=pairs.indexOf(e.closest('.pair'));pick()}e.hidden=false;e.open=true;e.scrollIntoView()};
F.oninput=R.oninput=filter;
box.append(el('button',{textContent:'Open all',onclick(){us.forEach(u=>u.open=!u.hidden)}}),n);
box.hidden=false;pick();go();addEventListener('hashchange',go);
addEventListener('keydown',e=>{const s={ArrowLeft:-1,ArrowRight:1}[e.key],a=d.activeElement;if(!s||e.altKey||e.ctrlKey||e.metaKey||a.matches('input,select,.scroll'))return;
const v=q('.u').filter(u=>u.offsetParent),i=v.indexOf(a.closest('.u')),b=v[i<0?0:i+s];if(!b)return;if(i>=0)v[i].open=false;b.open=true;b.firstChild.focus();e.preventDefault()})})()
